"""What the tables of these tests say, but where a schedule is what is tested: no run gets in another one's way."""

BY_HAND = {"schedule": "off", "collect_schedule": "off"}
