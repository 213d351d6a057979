//! What changes in a running bot when its settings are read again.
