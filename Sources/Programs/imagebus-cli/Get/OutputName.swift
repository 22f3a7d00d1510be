import CommandLineInterface
import ImageModel

/// What the name of an output file says of the image that is written there.
enum OutputName {
    /// The format of the name's ending; nil where it says none.
    static func format(of path: String) -> ImageFormat? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        return ImageFormat(fileExtension: String(name[name.index(after: dot)...]))
    }

    /// Lets the name decide where no option does, and refuses what contradicts it. Nothing is
    /// decided for the source's own bytes, whose format is not known yet.
    static func settle(_ request: inout ImageRequest, writingTo path: String) throws(UsageError) {
        guard let named = format(of: path) else { return }
        if let format = request.output.format {
            guard format == named else {
                throw UsageError(
                    "--format \(format.name) contradicts the name '\(path)': change one of them")
            }
        } else if !request.isPlain {
            guard named.mayBeEncoded else { throw UsageError(notWritten(named, path)) }
            request.output.format = named
        }
    }

    /// The request for an image that turned out to be of another format than its name says; nil
    /// where it is not.
    static func correction(
        of request: ImageRequest, for image: ImageFormat, writingTo path: String
    ) throws(ImageError) -> ImageRequest? {
        guard let named = format(of: path), named != image, request.output.format == nil else {
            return nil
        }
        guard named.mayBeEncoded else {
            throw ImageError(
                .invalidRequest, "the image is \(image.name), and \(notWritten(named, path))")
        }
        var request = request
        request.output.format = named
        return request
    }

    private static func notWritten(_ format: ImageFormat, _ path: String) -> String {
        let known = ImageFormat.encodable.map(\.name)
        return "'\(path)' names \(format.name), which this version does not write: end it in "
            + known.joined(separator: ", ")
    }
}
