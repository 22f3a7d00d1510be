import CMessages

/// Memory for one message at a time: allocation counts up to a quota, freeing is a reset.
///
/// A message's parts die together, so a bump allocator is exact; the quota bounds what a hostile
/// body can make of its few bytes. Pages that no message touched are never resident.
struct Slab: ~Copyable {
    /// Enough for every message within the limits (a full `Load` takes 60 KB of it), far less than
    /// 96 KB of the most wasteful fields would take.
    static let defaultQuota = 256 * 1024

    /// Where the bytes lie; stays where it is while the slab lives.
    let region: UnsafeMutablePointer<SlabRegion>

    init(quota: Int = defaultQuota) {
        region = .allocate(capacity: 1)
        region.initialize(to: SlabRegion(capacity: max(quota, 0)))
    }

    deinit {
        region.pointee.base.deallocate()
        region.deinitialize(count: 1)
        region.deallocate()
    }

    /// Frees all that was allocated.
    func reset() {
        region.pointee.used = 0
        region.pointee.isExhausted = false
    }

    /// The slab as protobuf-c sees it; valid while the slab lives.
    var allocator: ProtobufCAllocator {
        ProtobufCAllocator(
            alloc: { data, size in
                data?.assumingMemoryBound(to: SlabRegion.self).pointee.allocate(size)
            },
            free: { _, _ in },
            allocator_data: UnsafeMutableRawPointer(region))
    }
}

/// The bytes of a slab. In front of every allocation stands its size: that is how the length of a
/// text is known although C ends it with a NUL.
struct SlabRegion {
    let base: UnsafeMutableRawPointer
    let capacity: Int
    var used = 0
    /// An allocation did not fit.
    var isExhausted = false

    private static let alignment = 8

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: max(capacity, 1), alignment: Self.alignment)
    }

    /// `size` bytes, 8-aligned, uninitialised; `nil` when the quota is used up.
    mutating func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        let free = capacity - used
        guard size >= 0, size <= free, Self.whole(size) <= free else {
            isExhausted = true
            return nil
        }
        let header = base + used
        header.storeBytes(of: size, as: Int.self)
        used += Self.whole(size)
        return header + Self.alignment
    }

    /// The size that was asked for at `pointer`; `nil` for memory that is not of this slab.
    func size(at pointer: UnsafeRawPointer) -> Int? {
        guard pointer >= UnsafeRawPointer(base) + Self.alignment,
            pointer <= UnsafeRawPointer(base) + used
        else { return nil }
        return (pointer - Self.alignment).load(as: Int.self)
    }

    private static func whole(_ size: Int) -> Int {
        alignment + (size + alignment - 1) / alignment * alignment
    }
}
