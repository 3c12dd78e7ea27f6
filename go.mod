module pressbox

go 1.26
