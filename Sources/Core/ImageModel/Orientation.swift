/// What has to be done to stored pixels to display them, as a transposition followed by mirroring:
/// the eight values of EXIF's tag 0x0112 (TIFF 6.0), and all that flips and quarter turns make of
/// them.
public struct Orientation: Hashable, Sendable {
    /// Columns become rows first.
    public var transposes: Bool
    /// Left and right are exchanged, after transposing.
    public var mirrorsHorizontally: Bool
    /// Top and bottom are exchanged, after transposing.
    public var mirrorsVertically: Bool

    /// Nothing is to be done.
    public static let upright = Orientation(exif: 1)

    /// - Parameter exif: the tag, 1 to 8; other numbers mean 1.
    public init(exif: Int) {
        transposes = (5...8).contains(exif)
        mirrorsHorizontally = [2, 3, 6, 7].contains(exif)
        mirrorsVertically = [3, 4, 7, 8].contains(exif)
    }

    /// The tag that says the same, 1 to 8.
    public var exif: Int {
        switch (transposes, mirrorsHorizontally, mirrorsVertically) {
        case (false, false, false): 1
        case (false, true, false): 2
        case (false, true, true): 3
        case (false, false, true): 4
        case (true, false, false): 5
        case (true, true, false): 6
        case (true, true, true): 7
        case (true, false, true): 8
        }
    }

    /// Nothing is to be done.
    public var isUpright: Bool { self == .upright }

    /// The size of what is displayed.
    public func displayed(_ stored: PixelSize) -> PixelSize {
        transposes ? stored.transposed : stored
    }

    /// The size of what is stored.
    public func stored(_ displayed: PixelSize) -> PixelSize {
        transposes ? displayed.transposed : displayed
    }

    /// What has to be done when the displayed image is mirrored besides.
    public func flipped(horizontally: Bool, vertically: Bool) -> Orientation {
        var other = self
        other.mirrorsHorizontally = mirrorsHorizontally != horizontally
        other.mirrorsVertically = mirrorsVertically != vertically
        return other
    }

    /// What has to be done when the displayed image is turned clockwise besides, by 0 to 3
    /// quarters.
    public func turned(quarters: Int) -> Orientation {
        var other = self
        for _ in 0..<quarters {
            // A quarter turn is a transposition, then left and right exchanged; transposing
            // exchanges the axes of what was mirrored before.
            other.transposes.toggle()
            (other.mirrorsHorizontally, other.mirrorsVertically) = (
                !other.mirrorsVertically, other.mirrorsHorizontally
            )
        }
        return other
    }
}
