//! Challenges that wait, and slots that are kept for people.
