"""What a developer runs: set-up, gates, tests, measurements."""
