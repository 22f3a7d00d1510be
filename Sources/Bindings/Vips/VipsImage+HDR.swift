internal import CVipsShims

/// What the samples of an image of a high dynamic range mean.
public struct VipsHDR: Sendable {
    /// How samples become light.
    public enum Transfer: Sendable {
        /// SMPTE ST 2084.
        case pq
        /// ARIB STD-B67, as a display of so many candela per square metre shows it.
        case hlg(peakNits: Double)
    }

    private let transfer: Transfer
    private let toSRGB: [[Double]]
    private let luminance: [Double]
    private let whiteNits: Double

    /// - Parameters:
    ///   - transfer: how samples become light.
    ///   - toSRGB: three rows, each linear colour of sRGB in those of the image.
    ///   - luminance: what each colour of the image adds to it.
    ///   - whiteNits: candela per square metre of what becomes white.
    public init(
        _ transfer: Transfer, toSRGB: [[Double]], luminance: [Double], whiteNits: Double
    ) {
        precondition(toSRGB.count == 3 && toSRGB.allSatisfy { $0.count == 3 })
        precondition(luminance.count == 3)
        (self.transfer, self.toSRGB) = (transfer, toSRGB)
        (self.luminance, self.whiteNits) = (luminance, whiteNits)
    }

    fileprivate func shim(whole: Double) -> cvips_hdr {
        var hdr = cvips_hdr()
        switch transfer {
        case .pq: hdr.is_pq = 1
        case .hlg(let peakNits): hdr.peak = peakNits
        }
        hdr.whole = whole
        hdr.white = whiteNits
        let rows = toSRGB.flatMap(\.self)
        withUnsafeMutableBytes(of: &hdr.to_srgb) { $0.copyBytes(from: rows.rawBytes) }
        withUnsafeMutableBytes(of: &hdr.luminance) { $0.copyBytes(from: luminance.rawBytes) }
        return hdr
    }
}

extension [Double] {
    fileprivate var rawBytes: [UInt8] { withUnsafeBytes { Array<UInt8>($0) } }
}

extension VipsImage {
    /// sRGB of 8 bits, or of 16 where that is wanted. What is brighter than `whiteNits`, or no
    /// colour of sRGB, is cut off. An alpha band stays.
    ///
    /// - Parameter whole: the number that a sample of 1 is, in 8 or 16 bits.
    public func convertedToSRGB(
        of hdr: VipsHDR, whole: Int, isDeep: Bool
    ) throws(VipsError) -> VipsImage {
        try derive("hdr") {
            cvips_hdr_to_srgb($0, hdr.shim(whole: Double(whole)), isDeep ? 1 : 0, $1)
        }
    }

    /// The same in 16 bits, all of which are used: `whole`, and its alpha, become 65,535.
    public func widened(whole: Int) throws(VipsError) -> VipsImage {
        try derive("widen") { cvips_widen($0, Double(whole), $1) }
    }

    /// Such 16 bits in 8, rounded.
    public func narrowed() throws(VipsError) -> VipsImage {
        try derive("narrow") { cvips_narrow($0, $1) }
    }
}
