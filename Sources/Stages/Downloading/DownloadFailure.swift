import Curl
import ImageModel
import Zlib

/// Why a download ended without a body.
enum DownloadFailure: Error {
    /// libcurl says so.
    case transfer(CurlError)
    /// The guard refused every address, of the URL or of a redirect.
    case addressForbidden
    /// A redirect leads to a URL that is none of the permitted sources.
    case sourceForbidden
    /// More redirects than this.
    case tooManyRedirects(Int)
    /// The body is over the limit, by the origin's word or by count.
    case bodyTooLarge(Int64)
    /// The origin answered, but with no image; it may have said when to ask again, in seconds.
    case status(ResponseHead, retryAfter: Int64? = nil)
    /// The proxy of this URL refused by itself, with this status: a tunnel to the origin, or to do
    /// anything for who it does not know.
    case refusedByProxy(String, status: Int)
    /// The origin says that the body is of a type which is not accepted.
    case contentType(String)
    /// The origin says that nothing changed, having been asked whether, and who may keep that for
    /// how long.
    case notModified(OriginCaching)
    /// The body is in more than one content coding, or in one that is not undone: its name.
    case contentCodings(String)
    /// The body is not in the content coding that its head names.
    case decompression(ZlibError)
    /// The body ends before its content coding does.
    case codingCutOff
    /// The answer ends before its head does. libcurl takes that for a good end.
    case headCutOff
    /// The body is none that a decryptor of the rules undoes: what is wrong with it.
    case undecryptable(String)
    /// A rule requires the header of this name, and the request has none.
    case missingHeader(String)
    /// Asked for the rest of a body, the origin sent something else, or none.
    case otherPart
    /// The origin answered with no bytes.
    case emptyBody
    /// The last location cannot be named.
    case badLocation(String)
    /// No loader takes the scheme.
    case scheme(String)
    /// A redirect leads to a URL of this scheme; it is followed to http and https alone.
    case schemeOfRedirect(String)
    /// The header of this name cannot be sent.
    case header(String)
    /// The URL or the arena refused with its own words.
    case refused(ImageError)
    /// The coordinator wants it no longer.
    case cancelled
    /// The time of the job is over.
    case deadline
    /// Lookups of names take most of the threads that there may be.
    case tooManyLookups
    /// More jobs than this at once.
    case tooMany(Int)
    /// The worker ends.
    case shuttingDown
    /// A defect of ours.
    case defect(String)
}
