public import TestKit

extension ChangingImage {
    /// Of 320 by 240 pixels: waves that become four colors.
    public init() throws {
        self.init(
            old: try Images.waves(width: 320, height: 240).jpeg(quality: 85),
            new: try Images.quadrants(width: 320, height: 240).jpeg(quality: 85))
    }
}
