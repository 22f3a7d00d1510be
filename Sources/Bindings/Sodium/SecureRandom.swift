internal import CSodium

/// Random bytes that nobody can guess.
public enum SecureRandom {
    /// `count` bytes of the kernel's generator.
    ///
    /// - Throws: `.unavailable`
    public static func bytes(_ count: Int) throws(SodiumError) -> [UInt8] {
        guard isReady else { throw .unavailable }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            if let start = buffer.baseAddress { randombytes_buf(start, count) }
            filled = count
        }
    }
}
