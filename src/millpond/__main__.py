"""``python -m millpond``"""

from millpond.cli import main

raise SystemExit(main())
