extension ImageError {
    private static let part = "part"
    private static let pixels = "pixels"

    /// Whether what is damaged is the pixels of an image, and its header can be read: loads that do
    /// not need the pixels succeed all the same (SEMANTICS §7.2).
    package var damagesPixelsOnly: Bool {
        get { code == .badImageData && details[Self.part] == Self.pixels }
        set { details[Self.part] = newValue ? Self.pixels : nil }
    }
}
