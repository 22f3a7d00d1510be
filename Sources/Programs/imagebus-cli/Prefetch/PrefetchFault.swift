import ImageModel
import Imagebus
import StackAccess

/// A URL of a prefetch that failed, and where it stands in the list.
struct PrefetchFault {
    /// nil: it is of the command line.
    let place: String?
    let url: String
    let error: ImageError

    /// What is no URL in the list, and then what the coordinator says that failed.
    static func all(_ list: URLList?, _ failures: [PrefetchFailure]) -> [PrefetchFault] {
        let faults = list?.faults ?? []
        let bad = Set(faults.map(\.url))
        return faults
            + failures.filter { !bad.contains($0.url) }.map { failure in
                PrefetchFault(
                    place: list?.place(of: failure.url), url: failure.url, error: failure.error)
            }
    }

    /// What to type next, each line once.
    static func advice(_ faults: [PrefetchFault]) -> [String] {
        var lines: [String] = []
        for line in faults.compactMap(\.error.advice) where !lines.contains(line) {
            lines.append(line)
        }
        return Array(lines.prefix(adviceMax))
    }

    private static let adviceMax = 3

    /// One line. Who reads along sees nothing secret: no user info, and no query.
    var line: String {
        let url = (try? SourceURL(url))?.forLogs ?? quoted
        let status = error.details["httpStatus"].map { " httpStatus=\($0)" } ?? ""
        return (place.map { "\($0): " } ?? "") + "\(url): \(error)\(status)"
    }

    /// The beginning of a text that is no URL, without what could be secret in a misspelled one.
    private var quoted: String {
        let text = url.prefix { $0 != "?" && $0 != "#" }
        let bare = text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? String(text)
        return "'\(bare.prefix(Self.quotedMax))\(bare.count > Self.quotedMax ? "…" : "")'"
    }

    private static let quotedMax = 80
}
