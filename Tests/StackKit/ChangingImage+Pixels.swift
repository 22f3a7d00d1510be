public import TestKit

extension ChangingImage {
    /// Two images of 320 × 240 pixels: waves, then four colors.
    public init() throws {
        self.init(
            old: try Images.waves(width: 320, height: 240).jpeg(quality: 85),
            new: try Images.quadrants(width: 320, height: 240).jpeg(quality: 85))
    }
}
