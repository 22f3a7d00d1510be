import ImageModel
package import Messages

extension StoredMetadata {
    /// Of bytes that are looked at and kept under no key.
    package static let none = StoredMetadata(
        info: ImageInfo(format: .undefined, size: PixelSize(width: 1, height: 1)))
}
