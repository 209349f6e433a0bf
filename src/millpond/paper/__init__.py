"""The paper's experiments as data, and one function a table or figure: ``millpond paper``.

published   the paper's own numbers          sheet   a table whose cells know why they are empty
units       what is run, one result each     store   finished units on disk
experiments which units a table needs        runner  runs what is not finished, on one machine or many

A table reads finished units and prints no number that was not computed; the other files hold a table,
or a figure, each.
"""
