package import Imagebus

extension ImageResponse {
    /// Whether no cache has it.
    package var isMiss: Bool { status == .miss }

    /// Lends the image's bytes; empty where only facts came.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let bytes else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try bytes.withUnsafeBytes(body)
    }
}
