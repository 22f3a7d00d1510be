internal import CVipsShims

extension VipsImage {
    /// The same pixels with copies of these beside them, which encodings that enclose such write;
    /// empty ones are none. What they say changes no pixel.
    public func enclosing(
        profile: [UInt8], xmp: [UInt8]
    ) throws(VipsError) -> VipsImage {
        try profile.withBytes { profile throws(VipsError) in
            try xmp.withBytes { xmp throws(VipsError) in
                try derive("copy") { cvips_enclose($0, profile, xmp, $1) }
            }
        }
    }

    /// The same pixels, of whose samples so many bits are said to be used, the highest ones, as the
    /// loader of HEIF says it.
    public func stating(bits: Int) throws(VipsError) -> VipsImage {
        try derive("copy") { cvips_state_bits($0, CInt(clamping: bits), $1) }
    }
}

extension [UInt8] {
    fileprivate func withBytes(
        _ body: (cvips_bytes) throws(VipsError) -> VipsImage
    ) throws(VipsError) -> VipsImage {
        let result = withUnsafeBytes { bytes in
            let given = cvips_bytes(
                bytes: bytes.isEmpty ? nil : bytes.baseAddress, count: bytes.count)
            return Result { () throws(VipsError) in try body(given) }
        }
        return try result.get()
    }
}
