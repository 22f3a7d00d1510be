/// Pixels of two readers, of which nobody sees those that are transparent.
public enum SeenPixels {
    /// Whether both show the same: RGBA, equal wherever one of them has alpha.
    public static func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        return stride(from: 0, to: one.count, by: 4).allSatisfy { start in
            let (pixel, wanted) = (one[start..<start + 4], other[start..<start + 4])
            return pixel == wanted || pixel.last == 0 && wanted.last == 0
        }
    }
}
