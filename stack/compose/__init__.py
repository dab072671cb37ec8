"""What the compose file needs from the machine that it runs on."""
