import Admission
import ImageModel
import Messages

extension Coordinator {
    /// A load that brings no bytes along.
    mutating func load(_ request: LoadRequest, for id: UInt64, _ gateway: Gateway, at now: Instant)
    {
        let client = ClientID(id)
        let inPieces = expectPieces(request, for: id, at: now)
        if gateway.listener == .admin, case .text(let key) = request.image.context.key {
            let resolved = resolve(request, entry: key)
            return handle(.load(client, resolved.load, resolved.terms), at: now)
        }
        let resolved = gateway.listener == .web ? resolve(restricted: request) : resolve(request)
        // A hit has its voucher the first time: whoever asks for many images in turn may find the
        // place of each taken by another one when it comes again.
        if !inPieces {
            learn(request, resolved, gateway)
            if let sender = gateway.sender, answerAgain(sender, gateway, at: now) { return }
            if answerOnce(request, resolved, from: id, gateway, at: now) { return }
        }
        handle(.load(client, resolved.load, resolved.terms), at: now)
    }

    /// A front end that speaks for strangers has the profile that is meant for those.
    private func resolve(restricted load: LoadRequest) -> Resolved {
        do throws(ImageError) {
            try RestrictedFront.check(load, configuration.permissionForStrangers)
            var load = load
            load.image.context.profile = configuration.profileForStrangers
            return resolve(load)
        } catch {
            var resolved = Resolved(load: load, terms: LoadTerms(), mayChange: true)
            resolved.terms.refusal = error
            return resolved
        }
    }

    /// An operator reads the entry of a key, as replies show that: nothing is fetched or stored,
    /// and of the configuration only the names of caches count.
    private func resolve(_ load: LoadRequest, entry key: String) -> Resolved {
        var resolved = Resolved(load: load, terms: LoadTerms(), mayChange: true)
        do throws(ImageError) {
            resolved.terms.cache = try configuration.cacheText(of: load.image.context.cache)
            resolved.terms.originalCache = resolved.terms.cache
            resolved.terms.base = .entry(key)
            resolved.terms.mayDownload = false
            resolved.load.image.context = RequestContext()
            resolved.load.image.options = [.fromCacheOnly]
            resolved.load.image.storeCacheTypes = .none
            resolved.load.image.originalStoreCacheTypes = .none
        } catch {
            resolved.terms.refusal = error
        }
        return resolved
    }
}
