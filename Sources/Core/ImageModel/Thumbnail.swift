/// SDWebImage's thumbnail decode (SEMANTICS §11.7): the image arrives already reduced.
public struct Thumbnail: Hashable, Sendable {
    /// The box in pixels.
    public var box: PixelSize
    /// Keep the ratio (inside the box, never enlarged), or exactly the box.
    public var preservesAspectRatio: Bool

    /// A box; keeps the ratio unless told otherwise.
    public init(box: PixelSize, preservesAspectRatio: Bool = true) {
        self.box = box
        self.preservesAspectRatio = preservesAspectRatio
    }

    /// `Thumbnail({100.000000,100.000000},1)` (SEMANTICS §4.4).
    public var key: String {
        "Thumbnail({\(box.width).000000,\(box.height).000000},\(preservesAspectRatio ? 1 : 0))"
    }

    /// The same as a step: it comes before all others.
    var step: TransformStep { .resize(box, preservesAspectRatio ? .fit : .stretch) }
}
