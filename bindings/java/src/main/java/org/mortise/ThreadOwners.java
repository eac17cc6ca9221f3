package org.mortise;

/**
 * What the locks of one kind share, whose owners are threads.
 *
 * @param holds what the threads hold
 * @param pool owners that hold nothing
 */
record ThreadOwners<T extends Owner>(ThreadHolds<T> holds, OwnerPool<T> pool) {
  ThreadOwners(OwnerPool.Make<T> make) {
    this(new ThreadHolds<>(), new OwnerPool<>(make));
  }
}
