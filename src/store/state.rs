//! What is remembered for one account, as a plain value. The file that holds it is not here.
