"""Stand-ins for what cannot be had in tests, faithful in their faults; they know no test."""
