/// What a file may ask for behind its header.
public struct JPEGLimits: Equatable, Sendable {
    /// Scans of one file. An honest progressive file has about ten; each costs a pass over the
    /// whole image, however few bytes it has.
    public var scans: Int
    /// Bytes of coefficients that may be held for a file with many scans
    /// (`JPEGHeader.coefficientBytes`); 0 sets no limit.
    public var coefficientBytes: Int

    /// 500 scans, and as much memory as there is.
    public static let standard = JPEGLimits(scans: 500, coefficientBytes: 0)

    /// Limits of the caller's choice.
    public init(scans: Int, coefficientBytes: Int) {
        self.scans = scans
        self.coefficientBytes = coefficientBytes
    }
}
