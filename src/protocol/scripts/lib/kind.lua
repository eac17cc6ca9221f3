-- Shared by the steps of `shared`: the kind of the lock, a read-write lock or a semaphore.

-- The weight of a writer: all of the lock.
local WHOLE = 1073741824
local KIND = KEYS[4] and 'semaphore' or 'rw'
-- The number of permits is kept this long after the last lease, in ms.
local PERMITS_LIFE = 86400000
