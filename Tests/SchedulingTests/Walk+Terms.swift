import Model

@testable import Coordinator

// Random terms set by a configuration.
extension Walk {
    /// Usually the defaults; otherwise another cache, another key base, or no download.
    mutating func terms() -> LoadTerms {
        var terms = LoadTerms()
        guard random.oneIn(3) else { return terms }
        terms.cache = pick(["", "x", "y"]) ?? ""
        terms.originalCache = pick(["", "x", "z"]) ?? ""
        if random.oneIn(3) { terms.base = pick([.own("k"), .filtered("http://host/a")]) ?? .url }
        if random.oneIn(6) { terms.mayDownload = false }
        if random.oneIn(3) { terms.scope = "other" }
        if random.oneIn(6) { terms.ignoresCacheControl = true }
        if random.oneIn(6) { terms.identity = "me" }
        if random.oneIn(6) { terms.blocks[.error(.badImageData)] = false }
        if random.oneIn(6) { terms.refusal = ImageError(.addressForbidden, "no") }
        return terms
    }
}
