public import ImageModel
public import Messages

extension ImageError {
    /// A job that another kind of worker does.
    public static func notOurs(_ work: JobWork) -> ImageError {
        ImageError(.protocolViolation, "this worker does no \(work.kind.name) job")
    }
}
