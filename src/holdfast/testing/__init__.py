"""What tests of locks need."""
