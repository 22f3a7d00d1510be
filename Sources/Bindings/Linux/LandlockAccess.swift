/// What may be done with files and directories, as Landlock counts it (landlock(7)).
public struct LandlockAccess: OptionSet, Sendable {
    /// The bits as in `<linux/landlock.h>`.
    public let rawValue: UInt64

    /// Wraps bits as in `<linux/landlock.h>`.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Open a file for writing.
    public static let writeFile = LandlockAccess(rawValue: 1 << 1)
    /// Open a file for reading.
    public static let readFile = LandlockAccess(rawValue: 1 << 2)
    /// Open a directory, list it.
    public static let readDirectory = LandlockAccess(rawValue: 1 << 3)
    /// Unlink a file.
    public static let removeFile = LandlockAccess(rawValue: 1 << 5)
    /// Make a regular file.
    public static let makeFile = LandlockAccess(rawValue: 1 << 8)

    /// Everything that a kernel with this version of Landlock can forbid.
    static func all(version: Int) -> LandlockAccess {
        let bits =
            switch version {
            case 1: 13
            case 2: 14
            case 3, 4: 15
            default: 16
            }
        return LandlockAccess(rawValue: (1 << bits) - 1)
    }
}
