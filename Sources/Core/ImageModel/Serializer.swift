/// What is written into the caches instead of the bytes that are delivered (sdwebimage.md §4.8).
public enum Serializer: Hashable, Sendable {
    /// The bytes as they are.
    case asIs
    /// The picture in another format; `nil` is `OutputOptions.defaultQuality`.
    case transcode(ImageFormat, quality: Int?)
    /// A serializer of the configuration, by name.
    case named(String)
}
