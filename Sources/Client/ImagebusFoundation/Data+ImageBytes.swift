public import FoundationEssentials
public import Imagebus

extension Data {
    /// A copy, which is the caller's own.
    public init(_ bytes: ImageBytes) {
        self = bytes.withUnsafeBytes { Data($0) }
    }

    /// The bytes where they lie, without a copy, where they are a mapping of shared memory (from
    /// 1 MiB on); else a copy. It and its copies keep `bytes`, so the stack cannot use that memory
    /// again before the last of them has gone.
    ///
    /// For reading: the memory may not be written. What grows it, and what changes one of several
    /// copies, copies first; but a change in place of the only one (`data[0] = 1`) ends the
    /// process. Who changes bytes takes `Data(bytes)`.
    public init(sharing bytes: ImageBytes) {
        let lasting = bytes.lastingBytes
        guard bytes.isMapped, let start = lasting.baseAddress else {
            self.init(bytes)
            return
        }
        self.init(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: lasting.count,
            deallocator: .custom { _, _ in withExtendedLifetime(bytes) {} })
    }
}

extension ImageResponse {
    /// A copy of the encoded bytes; `nil` for a miss and where only facts were asked for.
    public var data: Data? { bytes.map { Data($0) } }
}
