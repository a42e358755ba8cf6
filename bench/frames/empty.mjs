/** A process that does nothing. */
