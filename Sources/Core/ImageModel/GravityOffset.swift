/// By how much a place of an image is moved: inwards from an edge, to the right and down from the
/// middle. What is below 0 moves it the other way.
public struct GravityOffset: Hashable, Sendable {
    /// Columns, in pixels or in hundredths of the width.
    public let x: RelativeSize.Side
    /// Rows, in pixels or in hundredths of the height.
    public let y: RelativeSize.Side

    /// Takes any numbers; those beyond the limits are refused with the request.
    public init(x: RelativeSize.Side, y: RelativeSize.Side) { (self.x, self.y) = (x, y) }

    init?(_ x: String, _ y: String) {
        guard let x = RelativeSize.Side(x[...]), let y = RelativeSize.Side(y[...]) else {
            return nil
        }
        self.init(x: x, y: y)
    }

    var isPermitted: Bool { x.isPermittedOffset && y.isPermittedOffset }

    func scaled(by ratio: Double) -> GravityOffset {
        GravityOffset(x: x.movedFurther(by: ratio), y: y.movedFurther(by: ratio))
    }
}

extension GravityOffset: CustomStringConvertible {
    /// `5:-10%`
    public var description: String { "\(x.text):\(y.text)" }
}

extension RelativeSize.Side {
    fileprivate var isPermittedOffset: Bool {
        switch self {
        case .pixels(let count): abs(count) <= RequestLimits.sideMax
        case .percent(let number): (-100...100).contains(number)
        }
    }

    fileprivate func movedFurther(by ratio: Double) -> Self {
        guard case .pixels(let count) = self else { return self }
        return .pixels(ImageModel.scaled(count, by: ratio))
    }

    /// Pixels of a side, negative for a place behind the middle: from there inwards is back.
    func inwards(from place: Double, in side: Int) -> Int {
        let moved =
            switch self {
            case .pixels(let count): count
            case .percent(let number):
                Int((Double(side) * number / 100).rounded(.toNearestOrEven))
            }
        return place > 0.5 ? -moved : moved
    }
}
