"""The rules of locks: records, operations and the one function that changes them.  Pure; it knows nothing else."""
