import Glibc

/// `poll(2)` over a few descriptors.
enum Poll {
    /// The index of the first descriptor with an event, or nil after `timeout` (nil: no timeout).
    static func wait(_ descriptors: [pollfd], timeout: Duration?) -> Int? {
        let deadline = timeout.map { ContinuousClock.now.advanced(by: $0) }
        var descriptors = descriptors
        while true {
            let count = poll(&descriptors, nfds_t(descriptors.count), milliseconds(until: deadline))
            if count > 0 { return descriptors.firstIndex { $0.revents != 0 } }
            if count == 0, let deadline, ContinuousClock.now >= deadline { return nil }
            precondition(count >= 0 || errno == EINTR, "poll: \(errno)")
        }
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        let total = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        return Int32(clamping: total)
    }
}

extension pollfd {
    static func readable(_ descriptor: Int32) -> pollfd {
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    }

    static func writable(_ descriptor: Int32) -> pollfd {
        pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    }

    /// Fires when the peer has closed its side, even if there are unread bytes.
    static func closed(_ descriptor: Int32) -> pollfd {
        let readHangUp: Int16 = 0x2000  // POLLRDHUP, a GNU name that the importer may not show
        return pollfd(fd: descriptor, events: readHangUp, revents: 0)
    }
}
