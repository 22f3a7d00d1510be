/// Compares the visible pixels of two decoders: the color of transparent pixels doesn't matter.
public enum SeenPixels {
    /// Whether both images (RGBA) look the same: equal wherever one of them isn't transparent.
    public static func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return stride(from: 0, to: one.count, by: 4).allSatisfy { start in
            let (pixel, wanted) = (one[start..<start + 4], other[start..<start + 4])
            return pixel == wanted || pixel.last == 0 && wanted.last == 0
        }
    }
}
