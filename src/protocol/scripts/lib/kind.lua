-- Shared by the steps of `shared`: which of its two kinds of lock it is, a read-write lock or a
-- semaphore.

-- What a writer has: all there is.
local WHOLE = 1073741824
local KIND = KEYS[4] and 'semaphore' or 'rw'
-- The number of permits is kept this much longer than the last lease, in ms.
local PERMITS_LIFE = 86400000
