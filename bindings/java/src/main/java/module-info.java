/** Distributed locks on Redis and Valkey; begin with {@link org.mortise.MortiseClient}. */
module org.mortise {
  exports org.mortise;
}
