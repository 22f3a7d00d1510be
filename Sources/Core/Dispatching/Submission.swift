package import Messages

/// A job that is wanted, with all that its work does not say.
package struct Submission: Sendable {
    /// What a worker is to do.
    package let spec: JobSpec
    /// How badly it is wanted, and by whom.
    package var urgency: Urgency
    /// The block that it reads, and those that it reads beside it: held for as long as the job is
    /// there.
    package var input: BlockHandle?
    /// See `input`.
    package var overlays: [BlockHandle] = []
    /// Within one class and kind of worker smaller ones go first: 0 to 3.
    package var rank: UInt8 = 2
    /// What a crash of its worker would be evidence against.
    package var suspect: Suspect?
    /// What made the bytes that the cache is to take: evidence against it, if they are not the
    /// image that was said.
    package var maker: Suspect?
    /// The pools that may do a decode, in the order in which they are asked; empty: all.
    package var coders: [String] = []
    /// Whether workers of somebody else transform, and none of ours: a custom step, or an encode
    /// that one of their pools is granted.
    package var isForeign = false
    /// Of the request that began the work.
    package var logContext = LogContext()
    /// Whether it waits for space outside, where there is none: what no reply waits for does not.
    package var waitsForSpace = true
    /// Whether anybody listens to how far it is.
    package var wantsProgress = false
    /// Whether somebody wants to look at what has arrived of a transfer.
    package var wantsArrived = false
    /// The pool that does it and no other, once or not at all: a cache that is somebody else's.
    package var foreignCache: PoolID?
    /// Whether it is done once or not at all: it ends where its worker is lost, where there is no
    /// space, and where other work waits for its worker.
    package var isExpendable = false

    /// Work that reads nothing and is suspected of nothing, unless that is said.
    package init(_ spec: JobSpec, _ urgency: Urgency) {
        self.spec = spec
        self.urgency = urgency
    }
}
