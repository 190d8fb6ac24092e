"""What can be watched: events for hooks, and the log."""
