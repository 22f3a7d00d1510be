import ImageModel

extension LoadTerms {
    /// What a download worker is told of the transfer: no two identities have a cookie jar of the
    /// same name. Somebody else's is told nothing (`checkTransferOfPool`).
    var transferOfItsOwn: TransferTerms {
        guard loader.kind != .pool else { return TransferTerms() }
        var transfer = transfer
        transfer.cookieJar = transfer.cookieJar.map { "\(identity ?? "")/\($0)" }
        return transfer
    }
}
