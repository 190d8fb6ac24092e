"""What is done with the rules: programs (generators) that acquire, renew, release and wait.  No I/O in here."""
