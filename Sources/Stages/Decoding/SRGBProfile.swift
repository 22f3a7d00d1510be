/// Recognises the profiles that say nothing but sRGB, so that a conversion is saved.
enum SRGBProfile {
    /// True for the profile of the IEC that most cameras and programs embed: device manufacturer
    /// `IEC `, model `sRGB` (ICC.1:2022, 7.2). Other ways to say sRGB are converted, which is
    /// slower and gives the same.
    static func matches(_ profile: UnsafeRawBufferPointer) -> Bool {
        profile.count >= 128 && profile[48..<56].elementsEqual("IEC sRGB".utf8)
    }
}
