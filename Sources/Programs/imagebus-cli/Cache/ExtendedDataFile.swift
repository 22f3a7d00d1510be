import CommandLineInterface
import ImageModel

/// The file with what is put beside an image, and what it is said to be.
struct ExtendedDataFile: Hashable {
    let path: String
    let mediaType: String

    /// `nil` where no file is named.
    init?(_ read: ReadOptions) throws(UsageError) {
        let type = try read.parsed("media-type") { (text) throws(UsageError) in
            guard ExtendedData.isMediaType(text) else {
                throw UsageError("'\(text)' is no media type, such as application/json")
            }
            return text
        }
        guard let path = try read.parsed("extended-data", OptionValue.path) else {
            if type != nil { throw UsageError("--media-type is of --extended-data FILE") }
            return nil
        }
        self.path = path
        mediaType = type ?? ExtendedData.unknownType
    }

    /// Its bytes. Throws where the file cannot be read, is empty, or has too many.
    func data() throws(ImageError) -> ExtendedData {
        let bytes = try InputFile.read(path, bytesMax: ExtendedData.bytesMax)
        return ExtendedData(bytes, mediaType: mediaType)
    }
}
