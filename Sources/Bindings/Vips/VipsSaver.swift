internal import CVipsShims

/// A saver of libvips that libvips itself does not trust.
///
/// It is blocked until a `VipsLibrary` is made that names it; other savers are free.
public struct VipsSaver: Hashable, Sendable {
    /// libvips' name of it.
    public let name: String
    /// The module that has it, unless it is inside libvips; loaded when this is permitted.
    let module: String?

    /// Of JPEG XL.
    public static let jxl = VipsSaver(name: "jxlsave_target", module: "jxl")

    /// Lets savers through, for good.
    static func permit(_ savers: [VipsSaver]) throws(VipsError) {
        for saver in savers {
            guard cvips_permit_saver(saver.name, saver.module) == 0 else {
                throw .lacking("saver", saver.name, module: saver.module)
            }
        }
    }
}
