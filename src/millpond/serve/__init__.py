"""``millpond serve``: a fleet behind HTTP. Needs the extra ``serve``.

messages    what requests and answers look like: the OpenAPI description is made of these
guard       who and what is let in: tokens, hosts, body sizes, content types
desk        requests that come together become one batch of the fleet
watch       rates, latencies, accuracy and drift, as they are now: shown, and never decided by
metrics     the same for Prometheus
app         the routes
page        the live page, one file without anything from elsewhere
command     the words of the command line
"""
