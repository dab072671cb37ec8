"""The order of followers in each list: who leads next."""
