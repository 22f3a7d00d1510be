/// A width and a height, each in pixels or as a part of an image.
public struct RelativeSize: Hashable, Sendable {
    /// One of the two.
    public enum Side: Hashable, Sendable {
        /// So many pixels.
        case pixels(Int)
        /// So many hundredths of the side of the image.
        case percent(Double)
    }

    /// Columns.
    public let width: Side
    /// Rows.
    public let height: Side

    /// Takes any numbers; those of no size are refused with the request.
    public init(width: Side, height: Side) {
        (self.width, self.height) = (width, height)
    }

    /// `300x200`, `50%x100%` or `300x50%`; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            .map { Side($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1] else { return nil }
        self.init(width: width, height: height)
    }

    /// Where it says both in pixels.
    var pixels: PixelSize? {
        guard case .pixels(let columns) = width, case .pixels(let rows) = height else { return nil }
        return PixelSize(width: columns, height: rows)
    }

    var isPermitted: Bool { width.isPermitted && height.isPermitted }

    /// In pixels of an image, at least one and at most all.
    package func resolved(in source: PixelSize) -> PixelSize {
        PixelSize(
            width: width.resolved(in: source.width), height: height.resolved(in: source.height))
    }
}

extension RelativeSize: CustomStringConvertible {
    /// What `init` takes.
    public var description: String { "\(width.text)x\(height.text)" }
}

extension RelativeSize.Side {
    init?(_ text: Substring) {
        if text.utf8.last == UInt8(ascii: "%") {
            guard let number = PlainNumber.decimal(String(text.dropLast())) else { return nil }
            self = .percent(number)
        } else {
            guard let number = PlainNumber.integer(text) else { return nil }
            self = .pixels(number)
        }
    }

    var text: String {
        switch self {
        case .pixels(let count): "\(count)"
        case .percent(let number): "\(number)%"
        }
    }

    var isPermitted: Bool {
        switch self {
        case .pixels(let count): (1...RequestLimits.sideMax).contains(count)
        case .percent(let number): number > 0 && number <= 100
        }
    }

    func resolved(in side: Int) -> Int {
        switch self {
        case .pixels(let count): max(1, min(count, side))
        case .percent(let number):
            isPermitted ? max(1, Int((Double(side) * number / 100).rounded())) : side
        }
    }
}
