extension ImageRequest {
    /// A hash of what usually differs between requests, for tables of this process.
    ///
    /// Made once for a request and its copies, until one is changed. Without class and timeout:
    /// neither makes another image, and requests that differ in these alone may share a load.
    package var digest: Int { shared.digest { $0.madeDigest } }

    /// Whether it differs from another one in that part, and in nothing else.
    package func differs<Value: Equatable>(
        from other: ImageRequest, onlyIn part: WritableKeyPath<ImageRequest, Value>
    ) -> Bool {
        guard self[keyPath: part] != other[keyPath: part] else { return false }
        var equal = other
        equal[keyPath: part] = self[keyPath: part]
        return self == equal
    }
}

extension RequestFields {
    /// What most requests do not say costs nothing.
    fileprivate var madeDigest: Int {
        var hasher = Hasher()
        hasher.combine(url)
        let format = UInt64(UInt16(bitPattern: output.format?.rawValue ?? -1))
        let quality = UInt64(UInt8(truncatingIfNeeded: output.quality ?? -1))
        let isInfo: UInt64 = infoOnly ? 1 : 0
        hasher.combine(format | quality << 16 | isInfo << 24)
        hasher.combine(options.subtracting([.lowPriority, .highPriority]))
        if pixelRatio != 1 { hasher.combine(pixelRatio) }
        if !steps.isEmpty { hasher.combine(steps) }
        if thumbnail != nil { hasher.combine(thumbnail) }
        if frame != nil { hasher.combine(frame) }
        if !headers.isEmpty { hasher.combine(headers) }
        if let said { hasher.combine(said) }
        return hasher.finalize()
    }
}
