/// How much smaller planes of chroma are than that of luma, as they are decoded: at a reduced size
/// often less than in the file.
public struct JPEGChroma: Equatable, Sendable {
    /// Base 2 logarithm of the columns of luma for each of chroma: 0 to 2.
    public let horizontalLog2: Int
    /// The same for rows.
    public let verticalLog2: Int

    /// The numbers of any file.
    public init(horizontalLog2: Int, verticalLog2: Int) {
        self.horizontalLog2 = horizontalLog2
        self.verticalLog2 = verticalLog2
    }
}
