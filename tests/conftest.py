"""What every test may rely on: nothing is skipped in silence, no analytics, no proxy to loopback."""

import os

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
