"""What other balancers were told, as settings of ours."""
