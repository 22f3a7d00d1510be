import CLinux

/// Random numbers of the kernel, fit for tokens and secrets (getrandom).
public enum Random {
    /// Fills the buffer.
    public static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            guard let count = try? syscall({ clinux_getrandom(rest.baseAddress, rest.count) })
            else { preconditionFailure("getrandom fails only for an address that is not ours") }
            done += Int(count)
        }
    }

    /// So many random bytes.
    public static func bytes(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }

    /// Sixty-four random bits.
    public static func uint64() -> UInt64 {
        var value: UInt64 = 0
        withUnsafeMutableBytes(of: &value) { fill($0) }
        return value
    }
}
